import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import type { Profile } from '@portcullis/platform/console/lib/session.ts'
import { useEffect, useRef, useState } from 'react'
import { type BodyOf, getMfa, reauthenticate, startReauthentication } from '#features/contract.ts'
import { endPasskeyQuestion, passkeyRefusal, passkeysWork, provePasskey } from '../shared/passkeys.ts'
import { refusalText } from './refusal.ts'
import { strings } from './strings.ts'

type Proof = BodyOf<typeof reauthenticate>
export type Way = 'password' | 'code' | 'recoveryCode' | 'passkey'

const refusals: Readonly<Record<Way, string>> = {
  password: strings.incorrectPassword,
  code: strings.codeRefused,
  passkey: strings.passkeyRefused,
  recoveryCode: strings.recoveryCodeRefused,
}

/** Returns the methods besides the password by which the account can prove its identity. */
const useOtherWays = (account: Profile['account']): readonly Way[] => {
  const { api } = useServices()
  const [others, setOthers] = useState<Way[]>([])
  useEffect(() => {
    if (!account.mfaEnabled) return
    let isShown = true
    api.call(getMfa).then(
      ({ totp, passkeys, recoveryCodesLeft }) => {
        if (!isShown) return
        setOthers([
          ...(totp ? (['code'] as const) : []),
          ...(passkeys.length > 0 && passkeysWork() ? (['passkey'] as const) : []),
          ...(recoveryCodesLeft > 0 ? (['recoveryCode'] as const) : []),
        ])
      },
      // The password is always offered.
      () => {},
    )
    return () => {
      isShown = false
      endPasskeyQuestion()
    }
  }, [api, account.mfaEnabled])
  return others
}

/** State and requests of the identity form. */
export const useIdentity = (account: Profile['account'], settle: (confirmed: boolean) => void) => {
  const { api } = useServices()
  const [way, setWay] = useState<Way>('password')
  const others = useOtherWays(account)
  const [text, setText] = useState('')
  const [refusal, setRefusal] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const prove = async (proof: () => Promise<Proof>) => {
    setBusy(true)
    setRefusal(null)
    try {
      await api.call(reauthenticate, { body: await proof() })
      settle(true)
    } catch (failure) {
      if (failure instanceof CallFailure && failure.code === 'reauthentication_failed') setRefusal(refusals[way])
      else setRefusal(failure instanceof CallFailure ? refusalText(failure) : passkeyRefusal(failure))
      setBusy(false)
      field.current?.focus()
      field.current?.select()
    }
  }
  const send = () => {
    if (way === 'passkey')
      void prove(async () => ({ response: await provePasskey((await api.call(startReauthentication)).options) }))
    else void prove(async () => ({ [way]: way === 'recoveryCode' ? text.trim() : text }))
  }
  const choose = (next: Way) => {
    setWay(next)
    setText('')
    setRefusal(null)
  }
  return { way, others, choose, text, setText, refusal, busy, field, send }
}
