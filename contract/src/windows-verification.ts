/** The verification of a Windows build, which an agent writes and a person imports. */
import { type Static, Type } from 'typebox'
import { osBuildPattern } from './agent-reports.ts'
import { closed, utcTime } from './shapes.ts'
import { windowsStepResults, windowsSteps } from './windows-steps.ts'

export const windowsStepId = Type.Enum(windowsSteps.map(({ id }) => id))
export const windowsBuild = Type.String({
  pattern: osBuildPattern,
  maxLength: 21,
  examples: ['10.0.22631.4317'],
  description: 'Build of Windows, such as `10.0.22631.4317`.',
})

/** Result of `portcullis-agent verify` on one Windows host. `payload` of `WindowsVerificationFile` is its JSON text. */
export const WindowsVerification = closed({
  format: Type.Literal('portcullis-windows-verification-1'),
  agentId: Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'UUID of the host, as the server assigned it.' }),
  osBuild: windowsBuild,
  edition: Type.String({ minLength: 1, maxLength: 120, description: 'Edition, such as `Windows 11 Pro`.' }),
  agentVersion: Type.String({ minLength: 1, maxLength: 64, description: 'Version of the agent.' }),
  createdAt: utcTime('Time of the verification, by the clock of the host.'),
  checks: Type.Array(
    closed({
      id: windowsStepId,
      result: Type.Enum(windowsStepResults, {
        description: '`not-performed`: the program cannot perform the step. A person must confirm it at the import.',
      }),
      detail: Type.String({
        maxLength: 500,
        description: 'What the program found. Empty if it did not perform the step.',
      }),
    }),
    {
      minItems: windowsSteps.length,
      maxItems: windowsSteps.length,
      description: 'Each of the twenty steps once, in any order.',
    },
  ),
})
export type WindowsVerification = Static<typeof WindowsVerification>

/** The file that `portcullis-agent verify` writes. The signature binds it to a host that the server knows. */
export const WindowsVerificationFile = closed({
  payload: Type.String({
    minLength: 2,
    maxLength: 32_768,
    description: 'JSON text of a `WindowsVerification`. The signature covers exactly this text.',
  }),
  signature: Type.String({
    pattern: '^[A-Za-z0-9+/]{80,120}={0,2}$',
    examples: ['NY8ZmcqyLMWy2OLrAlBz84Vx94CURR4ytYkWgMb0muuiZv4nOcUNRxhH+uOyyKEPXYDHXT+mvgj8LhYKKPszBw=='],
    description: 'Base64 signature over `windowsVerificationText(payload)` by the agent key of the host.',
  }),
})
export type WindowsVerificationFile = Static<typeof WindowsVerificationFile>
