/** Checks after every end-to-end test that no response of a server violated the contract. */
import { afterAll, afterEach, expect } from 'vitest'
import { closeWindows, shownByWindows } from '../proof/kit/browser.ts'
import { brokenAnswers } from '../proof/kit/harness.ts'

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') for (const shown of await shownByWindows()) console.log(`A window shows ${shown}`)
})
afterEach(() => expect(brokenAnswers()).toEqual([]))
afterAll(() => expect(brokenAnswers()).toEqual([]))
afterAll(closeWindows)
