/** Signs in for one command, because API tokens cannot perform operations that need fresh authentication. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import {
  finishSignIn,
  type LocalLoginAnswer,
  localLogin,
  logout,
  type MfaRequired,
  type ResponseOf,
} from '@portcullis/features/contract.ts'
import { CliError, createClient, readText } from './client.ts'

export interface SignInOptions {
  server: string
  user: string
  /** File whose first line is the password; `-` reads it from standard input. If absent, the command prompts for it. */
  passwordFile?: string
  /** Verification code, for accounts with a second factor. If absent, the command prompts for it. */
  code?: string
}

/** Prompts at the terminal without echoing the input. */
const ask = async (question: string, instead: string): Promise<string> => {
  if (!process.stdin.isTTY) throw new CliError(`Cannot prompt without a terminal. Instead, ${instead}.`)
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await lines.question('')
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

const passwordOf = async ({ user, passwordFile }: SignInOptions): Promise<string> => {
  if (passwordFile === undefined) return ask(`Password of ${user}: `, 'set the password with --password-file')
  const text = readText(passwordFile === '-' ? 0 : passwordFile, 'the password file')
  return text.replace(/\r?\n.*$/s, '')
}

/** Opens a session, which counts as fresh for five minutes, and returns a function that ends it. */
export const signIn = async (options: SignInOptions): Promise<{ token: string; signOut: () => Promise<unknown> }> => {
  const { server, user } = options
  const anonymous = createClient({ server, token: null })
  const password = await passwordOf(options)
  const answer = await anonymous.post<ResponseOf<typeof localLogin>>(localLogin.path, { username: user, password })
  async function finish({ mfaToken, methods }: MfaRequired): Promise<LocalLoginAnswer> {
    if (!methods.includes('totp'))
      throw new CliError(
        `The second factor of ${user} is a passkey, which the command line cannot use. Use the console.`,
      )
    const code = options.code ?? (await ask('Verification code: ', 'set the verification code with --code'))
    return anonymous.post<LocalLoginAnswer>(finishSignIn.path, { mfaToken, code })
  }
  const { token } = 'mfaRequired' in answer ? await finish(answer) : answer
  return { token, signOut: () => createClient({ server, token }).post(logout.path, undefined) }
}
