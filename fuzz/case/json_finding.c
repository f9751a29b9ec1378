#include "fuzz/case/json_finding.h"

void json_finding_parts(struct json *json, const struct db_finding *f)
{
    json_key_string(json, "reference", f->reference);
    json_key_string(json, "note", f->note);
    json_key_string(json, "oracle", f->oracle);
    json_key_string(json, "class", f->class);
    json_key_string(json, "rule", f->rule);
    json_key_string(json, "observable", f->observable);
    json_key_string(json, "subject", f->subject);
}

void json_finding_sightings(struct json *json, const struct db_finding *f)
{
    json_key_u64(json, "occurrences", f->occurrences);
    json_key_u64(json, "first_campaign", f->first_campaign);
    json_key_u64(json, "first_case", f->first_case);
    json_key_u64(json, "last_campaign", f->last_campaign);
    json_key_u64(json, "last_case", f->last_case);
    json_key_u64(json, "first_seen_ms", f->first_seen_ms);
    json_key_u64(json, "last_seen_ms", f->last_seen_ms);
}
