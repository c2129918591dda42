/** What Node is started with. */
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning']

/**
 * A server's young generation is 16 MB for each half, not the 64 that Node takes where there is much memory: buffers of
 * sockets wait there for the collector. A list of 100,000 hosts in one page took 75 MB more with 64, 17 MB with 16, and an idle
 * server 70 MB more; check-ins were as fast with either.
 */
export const SERVER_FLAGS = [...NODE_FLAGS, '--max-semi-space-size=16']
