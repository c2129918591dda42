import { describe, expect, it } from 'vitest'
import { hostSteps, keySteps, signSteps } from './publish.ts'

describe('the steps to publish a build', () => {
  it('configure the key on the server, never over the network', () => {
    const commands = [...keySteps, ...hostSteps, ...signSteps].map(({ command }) => command ?? '')
    expect(commands.join('\n')).toContain('release-key new')
    expect(commands.join('\n')).toContain('PORTCULLIS_RELEASE_KEY_FILE')
    expect(commands.join('\n')).not.toContain('--trust')
  })

  it('sign a build for Linux and one for Windows', () => {
    const commands = signSteps.flatMap(({ command }) => command ?? [])
    expect(commands.map((command) => /--architecture (\S+)/.exec(command)?.[1])).toEqual(['x64', 'windows-x64'])
  })
})
