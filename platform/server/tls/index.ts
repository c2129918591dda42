export { localIdentity } from './local-identity.ts'
export { ensureOwnCertificate } from './own-certificate.ts'
