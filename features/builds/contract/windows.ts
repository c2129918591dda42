import { windowsSteps } from '@portcullis/contract/windows-steps.ts'
import { WindowsVerificationFile, windowsBuild, windowsStepId } from '@portcullis/contract/windows-verification.ts'
import { apiPrefix, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

const tag = 'Windows'
const base = `${apiPrefix}/windows`
const majorBuild = Type.String({
  pattern: '^[0-9]{1,6}$',
  examples: ['22631'],
  description: 'Third number of the build of Windows, such as `22631`.',
})

/** A verification that was imported. */
export const WindowsVerificationRow = closed({
  build: majorBuild,
  osBuild: windowsBuild,
  edition: Type.String(),
  agentVersion: Type.String(),
  uuid: Type.String({ description: 'UUID of the verified host. It may have been deleted since.' }),
  hostIdentifier: Type.String(),
  createdAt: utcTime('Time of the verification, by the clock of the host.'),
  passed: Type.Integer({ description: 'Number of steps that the program performed.' }),
  confirmed: Type.Array(windowsStepId, { description: 'Steps that a person confirmed.' }),
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
    confirmed: Type.Array(windowsStepId, { maxItems: windowsSteps.length, uniqueItems: true }),
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
