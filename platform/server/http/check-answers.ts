import { type Readable, Transform } from 'node:stream'
import type { AnyOperation } from '../../contract/operation.ts'
import { AppError } from '../app-error.ts'
import { compiledOf } from './compiled.ts'
import { problemsOf } from './openapi-problems.ts'
import { schemaFaults } from './read-body.ts'

/** Largest streamed response that is checked. */
const keptBytes = 16 * 1024 * 1024

/** Checks JSON responses against the contract. An error names the operation and the differences. */
export const answerChecks = () => {
  function check(operation: AnyOperation, text: string): void {
    const compiled = compiledOf(operation.response)
    const value: unknown = JSON.parse(text)
    if (!compiled.Check(value))
      throw new Error(
        `the response of ${operation.id} does not match the contract: ${JSON.stringify(schemaFaults(compiled.Errors(value) as never, 'response').slice(0, 5))}`,
      )
  }

  /** Passes a stream through and destroys it at its end if it does not match. */
  function checkStream(operation: AnyOperation, answer: Readable, failed: (error: Error) => void): Readable {
    let kept: Buffer[] = []
    let size = 0
    const passing = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        size += chunk.length
        if (size > keptBytes) kept = []
        else kept.push(Buffer.from(chunk))
        done(null, chunk)
      },
      flush: (done) => {
        try {
          if (size <= keptBytes) check(operation, Buffer.concat(kept).toString('utf8'))
          done()
        } catch (error) {
          failed(error as Error)
          done(error as Error)
        }
      },
    })
    answer.once('error', (error) => passing.destroy(error))
    passing.once('close', () => answer.destroy())
    return answer.pipe(passing)
  }

  return { check, checkStream }
}

/** Returns the error, or a 500 that names it if the contract does not list its code for the operation. */
export const checkProblem = (operation: AnyOperation | undefined, error: AppError): AppError => {
  if (operation === undefined || problemsOf(operation).includes(error.code)) return error
  const fault = `the response of ${operation.id} does not match the contract: its errors lack ${error.code}`
  return new AppError('internal_error', {}, { cause: new Error(fault, { cause: error }) })
}
