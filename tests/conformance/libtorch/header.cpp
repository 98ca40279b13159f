// The source of the precompiled header that the programs share.
