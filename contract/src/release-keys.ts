/** The public file of the release key, which signs agent builds, and the rotations of that key. */
import { type Static, Type } from 'typebox'

/** A statement that names the successor of a release key, signed with that key. */
export const ReleaseKeyRotation = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Increases with every rotation. An agent accepts only a sequence number above its own.',
    }),
    previous: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'Fingerprint (SHA-256 of the SPKI DER, hex) of the key that signs this statement.',
    }),
    releaseKey: Type.String({
      pattern: '^[A-Za-z0-9+/]{59}=$',
      description: 'Base64 SPKI DER of the next Ed25519 release key.',
    }),
    rotatedAt: Type.String({ format: 'date-time', maxLength: 32, description: 'Time of the rotation (RFC 3339).' }),
    signature: Type.String({
      pattern: '^[A-Za-z0-9+/]{86}==$',
      description: 'Base64 Ed25519 signature over `releaseKeyRotationText(...)` by the previous key.',
    }),
  },
  { additionalProperties: false },
)
export type ReleaseKeyRotation = Static<typeof ReleaseKeyRotation>

/** The public file of a release key. Agent builds embed it, and the server reads it at start. It contains no secret. */
export interface ReleaseKeyFile {
  /** Base64 SPKI DER of the first key. */
  releaseKey: string
  /** Every rotation since, oldest first. */
  rotations: ReleaseKeyRotation[]
}
