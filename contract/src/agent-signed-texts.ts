/** Texts that the keys of the agent protocol sign. Separate from the schemas, so that agents do not load them. */
import type { AgentRevocation, CommandKeyRotation } from './command-keys.ts'
import type { ReleaseKeyRotation } from './release-keys.ts'

/** Returns the text that an agent signs to enrol. The token contains the CA hash of the server, which binds the text to it. */
export const enrolProofText = (token: string, publicKey: string): string =>
  `portcullis-enrol-v1\n${token}\n${publicKey}`

/**
 * A nonce begins with this text if the agent signs the nonce of a refusal with `session_proof_old`. The proof contains it,
 * so nobody can remove it. Random nonces of earlier agents do not begin with it by chance.
 */
export const boundedProofPrefix = 'bounded_'

/** Returns the text that an agent signs to open a session. */
export const sessionProofText = (r: { agentId: string; bootId: string; timestamp: number; nonce: string }): string =>
  `portcullis-session-v1\n${r.agentId}\n${r.bootId}\n${r.timestamp}\n${r.nonce}`

/** Returns the text that an agent signs for a Windows verification. `payload` is the JSON text of a `WindowsVerification`. */
export const windowsVerificationText = (payload: string): string => `portcullis-windows-verification-v1\n${payload}`

/** Returns the text that the release key signs for a build. */
export const packageProofText = (build: {
  version: string
  architecture: string
  sha256: string
  size: number
}): string => `portcullis-agent-package-v1\n${build.version}\n${build.architecture}\n${build.sha256}\n${build.size}`

/** Returns the text that the previous release key signs for its successor. Its first line distinguishes it from all other signed texts. */
export const releaseKeyRotationText = (rotation: Omit<ReleaseKeyRotation, 'signature'>): string =>
  `portcullis-release-key-rotation-v1\n${rotation.sequence}\n${rotation.previous}\n${rotation.releaseKey}\n${rotation.rotatedAt}`

/** Returns the text that the old command key signs for its successor. */
export const commandKeyRotationText = (r: Omit<CommandKeyRotation, 'signature'>): string =>
  `portcullis-command-key-v1\n${r.number}\n${r.oldKey}\n${r.newKey}\n${r.createdAt}`

/** Returns the text that the command key signs to revoke an agent. */
export const agentRevocationText = (r: Omit<AgentRevocation, 'signature'>): string =>
  `portcullis-agent-revocation-v1\n${r.agentId}\n${r.publicKeyHash}\n${r.counter}\n${r.revokedAt}`
