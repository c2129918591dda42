import { AppError } from '@portcullis/platform/server/app-error.ts'
import { FileAnswer, WithHeaders } from '@portcullis/platform/server/http/answer.ts'
import { credentialSeen, machineOwner } from '@portcullis/platform/server/http/connections.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Authenticator } from '@portcullis/platform/server/http/machine.ts'
import { uploadedFile } from '@portcullis/platform/server/http/uploaded-file.ts'
import { Type } from 'typebox'
import {
  agentPaths,
  closed,
  listPackages,
  operation,
  packageFileLimits,
  publishPackage,
  withdrawPackage,
} from '#features/contract.ts'
import type { BuildsContext } from './context.ts'
import type { PackagesService } from './packages.service.ts'

const download = operation({
  id: 'agentPackage',
  method: 'GET',
  path: `${agentPaths.packages}/{sha256}`,
  tag: 'Agent protocol',
  summary: 'A published agent build, as the bytes of its executable',
  permission: 'agent',
  params: closed({ sha256: Type.String({ maxLength: 64, description: 'SHA-256 of the executable, hex.' }) }),
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/octet-stream',
  errors: ['agent_session_expired', 'agent_revoked'],
})

export const registerPackageRoutes = (
  app: HttpApp,
  { clock, agents }: BuildsContext,
  packages: PackagesService,
): void => {
  app.register(listPackages, () => packages.list())
  app.register(withdrawPackage, ({ actor, params }) => packages.withdraw(actor, params.id))

  let isPublishing = false
  app.register(publishPackage, async ({ actor, query, request }) => {
    const part = await uploadedFile(request, packageFileLimits.fileBytes)
    // One upload at a time: each may take 128 MiB of disk space and CPU time for some seconds.
    if (isPublishing) throw new AppError('unavailable', {}, { headers: { 'retry-after': '10' } })
    isPublishing = true
    try {
      return await packages.publish(actor, query.trust, { chunks: part.file, isCut: () => part.file.truncated })
    } catch (error) {
      // A browser shows the refusal only after its whole upload was read.
      request.raw.unpipe()
      request.raw.resume()
      throw error
    } finally {
      isPublishing = false
    }
  })

  const agent: Authenticator<void> = {
    credential: 'header',
    check: async ({ headers, raw }) => {
      const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
      const session = agents.verifySession(token, clock.now() / 1000)
      if (session === null) throw new AppError('agent_session_expired')
      if (await agents.isRevoked(session.agentId)) throw new AppError('agent_revoked')
      credentialSeen(raw.socket, machineOwner(session.agentId))
    },
  }
  app.registerMachine(download, agent, async ({ params }) => {
    const { content, size, name } = await packages.download(params.sha256)
    return new WithHeaders(new FileAnswer(name, 'application/octet-stream', content), {
      'content-length': String(size),
    }) as never
  })
}
