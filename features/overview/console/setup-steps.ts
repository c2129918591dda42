import { strings as shared } from '@portcullis/platform/console/ui/strings.ts'
import {
  type AccountView,
  type BackupStatus,
  type getPolicy,
  type listPackages,
  type MfaState,
  type NotificationGroup,
  profiles,
  type ResponseOf,
} from '#features/contract.ts'
import { strings } from './strings.ts'

/** What the server says about its set-up. A member is undefined until it is read, or if the account may not read it. */
export interface SetUpFacts {
  hosts: number | undefined
  mfa: Pick<MfaState, 'totp' | 'passkeys'> | undefined
  accounts: readonly Pick<AccountView, 'userProfile'>[] | undefined
  backups: Pick<BackupStatus, 'isEnabled'> | undefined
  mailHost: string | undefined
  groups: readonly Pick<NotificationGroup, 'isEnabled' | 'channels'>[] | undefined
  packages: Pick<ResponseOf<typeof listPackages>, 'releaseKey'> | undefined
  policy: Pick<ResponseOf<typeof getPolicy>, 'rules'> | undefined
}

export interface SetUpStep {
  title: string
  text: string
  /** Page on which a person does the step. */
  to: string
  isDone: boolean
}

const sends = ({ isEnabled, channels }: Pick<NotificationGroup, 'isEnabled' | 'channels'>): boolean =>
  isEnabled && Object.values(channels).some((channel) => channel.isEnabled)

/** Returns the steps whose facts are known, in the order in which a new server needs them. */
export const setUpSteps = (facts: SetUpFacts): SetUpStep[] => {
  const { hosts, mfa, accounts, backups, mailHost, groups, packages, policy } = facts
  const steps: (Omit<SetUpStep, 'isDone'> & { isDone: boolean | undefined })[] = [
    {
      title: strings.stepFactor,
      text: strings.stepFactorText,
      to: '/settings/profile',
      isDone: mfa && (mfa.totp || mfa.passkeys.length > 0),
    },
    {
      title: strings.stepPeople,
      text: strings.stepPeopleText,
      to: '/settings/accounts',
      isDone: accounts && accounts.filter((one) => one.userProfile === profiles.administrator).length > 1,
    },
    {
      title: strings.stepBackup,
      text: strings.stepBackupText,
      to: '/settings/backups',
      isDone: backups?.isEnabled,
    },
    {
      title: strings.stepMail,
      text: strings.stepMailText,
      to: '/settings/mail',
      isDone: mailHost === undefined ? undefined : mailHost !== '',
    },
    {
      title: strings.stepAlerts,
      text: strings.stepAlertsText,
      to: '/settings/notifications',
      isDone: groups?.some(sends),
    },
    {
      title: strings.stepKey,
      text: shared.releaseKeyHint,
      to: '/settings/packages',
      isDone: packages && packages.releaseKey?.isInBuild === true,
    },
    {
      title: strings.stepHost,
      text: strings.stepHostText,
      to: '/settings/enrolment',
      isDone: hosts === undefined ? undefined : hosts > 0,
    },
    {
      title: strings.stepRule,
      text: strings.stepRuleText,
      to: '/policy',
      isDone: policy && policy.rules.allow + policy.rules.deny > 0,
    },
  ]
  return steps.flatMap(({ isDone, ...step }) => (isDone === undefined ? [] : [{ ...step, isDone }]))
}
