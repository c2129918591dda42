import pems from './certificates.json' with { type: 'json' }

/**
 * Certificates for tests, valid for 127.0.0.1 and localhost until 2126. The keys protect nothing.
 * `impostorLeaf` has the same subject and key as `server` but is signed by `otherCa`.
 */
export const certificates = pems
