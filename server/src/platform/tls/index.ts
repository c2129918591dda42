export { localIdentity } from './local-identity.ts'
export { ensureOwnCertificate, type OwnCertificate, type OwnCertificateOptions } from './own-certificate.ts'
