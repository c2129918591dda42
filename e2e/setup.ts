/** Of every end-to-end test: no server answered what the contract does not say. */
import { afterAll, afterEach, expect } from 'vitest'
import { brokenAnswers } from './harness.ts'

afterEach(() => expect(brokenAnswers()).toEqual([]))
afterAll(() => expect(brokenAnswers()).toEqual([]))
