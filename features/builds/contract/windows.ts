import { apiPrefix, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { osBuildPattern } from '#features/agents/contract/agent-reports.ts'
import { windowsStepResults, windowsSteps } from './windows-steps.ts'

const tag = 'Windows'
const base = `${apiPrefix}/windows`
const stepId = Type.Enum(windowsSteps.map(({ id }) => id))
const osBuild = Type.String({
  pattern: osBuildPattern,
  maxLength: 21,
  examples: ['10.0.22631.4317'],
  description: 'Build of Windows, such as `10.0.22631.4317`.',
})
const majorBuild = Type.String({
  pattern: '^[0-9]{1,6}$',
  examples: ['22631'],
  description: 'Third number of the build of Windows, such as `22631`.',
})

/** Result of `portcullis-agent verify` on one Windows host. `payload` of `WindowsVerificationFile` is its JSON text. */
export const WindowsVerification = closed({
  format: Type.Literal('portcullis-windows-verification-1'),
  agentId: Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'UUID of the host, as the server assigned it.' }),
  osBuild,
  edition: Type.String({ minLength: 1, maxLength: 120, description: 'Edition, such as `Windows 11 Pro`.' }),
  agentVersion: Type.String({ minLength: 1, maxLength: 64, description: 'Version of the agent.' }),
  createdAt: utcTime('Time of the verification, by the clock of the host.'),
  checks: Type.Array(
    closed({
      id: stepId,
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

/** A verification that was imported. */
export const WindowsVerificationRow = closed({
  build: majorBuild,
  osBuild,
  edition: Type.String(),
  agentVersion: Type.String(),
  uuid: Type.String({ description: 'UUID of the verified host. It may have been deleted since.' }),
  hostIdentifier: Type.String(),
  createdAt: utcTime('Time of the verification, by the clock of the host.'),
  passed: Type.Integer({ description: 'Number of steps that the program performed.' }),
  confirmed: Type.Array(stepId, { description: 'Steps that a person confirmed.' }),
  importedAt: utcTime('Time of the import.'),
  importedBy: Type.String(),
})
export type WindowsVerificationRow = Static<typeof WindowsVerificationRow>

/** A host that counts for the limit of its build. */
const ArmedWindowsHost = closed({ uuid: Type.String(), hostIdentifier: Type.String() })

export const getWindowsEnforcement = operation({
  id: 'getWindowsEnforcement',
  method: 'GET',
  path: `${base}/enforcement`,
  tag,
  summary: 'Returns how many Windows hosts are armed, and the imported verifications',
  permission: 'fleet:read',
  response: closed({
    enabled: Type.Boolean({ description: 'Whether the setting `VENDORA_WINDOWS_ENFORCEMENT` is on.' }),
    hostsUnverified: Type.Integer({
      description: 'Maximum number of armed hosts of a build without an imported verification.',
    }),
    builds: Type.Array(
      closed({
        build: nullable(majorBuild, { description: 'Build number. `null`: these hosts report no build.' }),
        agents: Type.Integer({ description: 'Windows hosts with an agent.' }),
        armed: Type.Integer({ description: 'Hosts that are armed or ordered to arm.' }),
        isVerified: Type.Boolean(),
        hosts: Type.Array(ArmedWindowsHost, {
          description: 'The first five hosts that are armed or ordered to arm.',
          maxItems: 5,
        }),
      }),
      { description: 'Builds of Windows hosts with an agent, newest first. At most 100.' },
    ),
    verifications: Type.Array(WindowsVerificationRow, { description: 'Newest build first. At most 100.' }),
  }),
})

export const importWindowsVerification = operation({
  id: 'importWindowsVerification',
  method: 'POST',
  path: `${base}/verifications`,
  tag,
  summary: 'Imports the verification of a Windows build',
  fresh: true,
  description:
    'Lifts the limit of armed hosts for this build. The file must come from a host that this server knows, be at most 30 days old, and have no failed step. `confirmed` names exactly the steps that the program did not perform: the person who imports the file states that these steps passed. Needs a second approver once two Administrators have existed. A newer verification of the same build replaces the previous one.',
  permission: 'config:write',
  body: closed({
    file: WindowsVerificationFile,
    confirmed: Type.Array(stepId, { maxItems: windowsSteps.length, uniqueItems: true }),
  }),
  response: WindowsVerificationRow,
  errors: ['verification_invalid', 'verification_incomplete', 'second_person_required', 'conflict'],
})

export const removeWindowsVerification = operation({
  id: 'removeWindowsVerification',
  method: 'DELETE',
  path: `${base}/verifications/{build}`,
  tag,
  summary: 'Removes the verification of a Windows build',
  fresh: true,
  description: 'The limit of armed hosts applies to this build again. Armed hosts stay armed.',
  permission: 'config:write',
  params: closed({ build: majorBuild }),
  response: closed({ removed: Type.Literal(true) }),
})
