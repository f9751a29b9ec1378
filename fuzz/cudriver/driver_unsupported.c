/*
 * What programs may ask of the driver and do not get.
 */
#include "fuzz/cudriver/driver.h"

#define UNSUPPORTED(name)                                                                          \
    EXPORT CUresult name(void);                                                                    \
    CUresult name(void)                                                                            \
    {                                                                                              \
        static bool said;                                                                          \
        return refuse_call(#name, &said);                                                          \
    }
#include "fuzz/cudriver/unsupported_driver.def"
#undef UNSUPPORTED
