import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { serverArguments, serverEnvironment } from './bootstrap/server-arguments.mjs'

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

it('the unit and the Dockerfile start the server with the same arguments and variables', () => {
  for (const [name, value] of Object.entries(serverEnvironment)) {
    expect(read('ops/systemd/portcullis.service')).toContain(`Environment=${name}=${value}\n`)
    expect(read('ops/docker/Dockerfile')).toContain(`ENV ${name}=${value}\n`)
  }
  expect(read('ops/systemd/portcullis.service')).toContain(
    `node ${serverArguments.join(' ')} server/src/entry/start.ts`,
  )
  expect(read('ops/docker/Dockerfile')).toContain(
    JSON.stringify(['node', ...serverArguments, 'server/src/entry/start.ts']).replaceAll(',', ', '),
  )
})
