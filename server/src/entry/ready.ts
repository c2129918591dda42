/** Health check of a container: exits with 0 if the server of this configuration is ready. */
import { loadConfig } from '@portcullis/platform/server/config.ts'
import { askOwnServer } from './own-server.ts'

askOwnServer(loadConfig(process.env, process.getuid?.() === 0)).then(
  ({ status }) => {
    process.stdout.write(`${status}\n`)
    process.exitCode = status === 200 ? 0 : 1
  },
  (error: unknown) => {
    process.stdout.write(`${(error as Error).message}\n`)
    process.exitCode = 1
  },
)
