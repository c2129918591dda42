import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { unless } from '@portcullis/domain/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSignedIn, sharedBrowser, whyNoChromium } from '../proof/kit/browser.ts'
import { type RunningServer, remove, startServer, temporaryDir } from '../proof/kit/harness.ts'
import { codeCache } from '../server/test/code-cache.ts'
import { serverDir } from './prepared.ts'

const cli = fileURLToPath(new URL('../cli/src/main.ts', import.meta.url))
const passphrase = 'correct horse battery staple'

describe('scheduled backups', unless(whyNoChromium), () => {
  let server: RunningServer
  let browser: Browser
  const dir = serverDir()
  const own = temporaryDir()
  const folder = join(own, 'backups')

  beforeAll(async () => {
    mkdirSync(folder)
    chmodSync(own, 0o755)
    server = await startServer(dir)
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await server?.stop()
    remove(dir)
    remove(own)
  })

  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

  it('are set up, tested and restored by an Administrator', async () => {
    const { page, context, wrong } = await openSignedIn(browser, server.url, '/settings/backups')
    const state = page.getByRole('region', { name: 'State' })
    await state.getByText('not scheduled').waitFor()
    await state.getByText('No backups yet.').waitFor()

    await page.getByLabel('Enabled').check()
    await page.getByLabel('Folder').fill(join(own, 'missing'))
    await page.getByLabel('Passphrase').fill(passphrase)
    await save(page)
    // The error is at its field, and the input is kept.
    await page.getByLabel('Folder').and(page.locator('[aria-invalid=true]')).waitFor()
    await page.getByText('does not exist. Create it for the account of the server').waitFor()
    await page.getByLabel('Folder').fill(folder)
    await save(page)
    await page.getByText('Unsaved changes.').waitFor({ state: 'detached' })

    await state.getByRole('button', { name: 'Back up now' }).click()
    const row = state.getByRole('row').nth(1)
    await row.getByText('Completed').waitFor({ timeout: 60_000 })
    await row.getByText('restored and compared').waitFor()
    expect(await state.getByText('not scheduled').count()).toBe(0)
    const [file, ...others] = readdirSync(folder)
    expect(others).toEqual([])
    await row.getByText(file as string).waitFor()

    // The command line restores the file of a schedule like any other.
    const [passphraseFile, restored] = [join(own, 'passphrase'), join(own, 'restored')]
    writeFileSync(passphraseFile, passphrase)
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [cli, '--json', 'restore', join(folder, file as string), '--passphrase-file', passphraseFile],
      { env: { ...codeCache, PATH: process.env.PATH ?? '', HOME: own, PORTCULLIS_DATA_DIR: restored } },
    )
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, hasKeys: false })
    expect(existsSync(join(restored, 'postgres'))).toBe(true)
    expect(wrong).toEqual([])
    await context.close()
  }, 120_000)
})
