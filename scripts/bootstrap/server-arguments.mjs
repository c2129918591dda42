/** Arguments of Node for every program of the product. */
const nodeArguments = ['--disable-warning=ExperimentalWarning']

/**
 * Arguments of Node for the server. By default, V8 lets the young generation grow to 134 MB, and an idle server never
 * returns it. 16 MB per semi-space limit it to 50 MB. V8 reads the limit before any code runs, so it must be an argument.
 * `--expose-gc` lets the server return memory after a burst.
 */
export const serverArguments = [...nodeArguments, '--max-semi-space-size=16', '--expose-gc']

/**
 * Environment of the server. By default, glibc keeps freed memory in up to eight arenas per processor, and allocates
 * increasingly large blocks from them. Each TLS connection has a buffer of 64 KiB, but a host uses only one page of it.
 * If the system allocates each buffer, unused pages take no memory. An idle server with 1,000 hosts uses 70 MB less.
 * Other C libraries ignore the variable.
 */
export const serverEnvironment = {
  GLIBC_TUNABLES: 'glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=65536:glibc.malloc.trim_threshold=1048576',
}

const isServer = (program) => program === 'server/src/entry/start.ts'

/** Returns the arguments of Node for a program of the repository. */
export const argumentsFor = (program) => (isServer(program) ? serverArguments : nodeArguments)

/** Returns the variables that a program of the repository needs in its environment, unless they are set already. */
export const environmentOf = (program) => (isServer(program) ? serverEnvironment : {})
