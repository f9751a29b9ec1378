/*
 * crs_tokens.h - the kinds of tokens of the branch unit's stack (cuda-crs 5.4.1): a kernel's settings name them
 * (`stack=`), the machine pushes them, the static check follows them.
 */
#ifndef ENGINE_CRS_TOKENS_H
#define ENGINE_CRS_TOKENS_H

enum crs_token_type { CRS_SYNC, CRS_DIVERGE, CRS_CALL, CRS_BREAK };

#endif
