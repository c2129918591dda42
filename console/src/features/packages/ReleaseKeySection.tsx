import type { HostsByReleaseKey, listPackages, ReleaseKey, ResponseOf } from '@portcullis/contract'
import { Link } from '@tanstack/react-router'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './PackagesPage.module.css'
import { hostSteps, keySteps } from './publish.ts'
import { Steps } from './Steps.tsx'
import { strings } from './strings.ts'

const meaning: Record<HostsByReleaseKey['state'], string> = {
  Current: strings.installsBuildsOfThisReleaseKey,
  Earlier: strings.trustsAnEarlierKeyFollowsThe,
  Foreign: strings.trustsAnotherKeyInstallTheAgent,
  None: strings.noReleaseKeyTheAgentWas,
  Unreported: strings.noBuiltInReleaseKeyAn,
}

const sourceText: Record<ReleaseKey['source'], string> = {
  file: strings.theFileThatPortcullisReleaseKey,
  build: 'the agent build of this server',
}

const Configured = ({ releaseKey }: { releaseKey: ReleaseKey }) => (
  <p>
    {strings.codeBrConfiguredInValueValue2({
      code: <code className={classes.key}>{releaseKey.fingerprint}</code>,
      br: <br />,
      value: sourceText[releaseKey.source],
      value2:
        releaseKey.rotatedAt === null ? null : (
          <>
            {' '}
            {strings.rotationSequenceTime({
              sequence: releaseKey.sequence,
              time: <Time value={releaseKey.rotatedAt} form="local" />,
            })}
          </>
        ),
      value3:
        releaseKey.earlier.length === 0
          ? null
          : strings.brReplacesEarlier({
              br: <br />,
              earlier: releaseKey.earlier.map((fingerprint) => (
                <code key={fingerprint} className={classes.key}>
                  {fingerprint}{' '}
                </code>
              )),
            }),
    })}
  </p>
)

/** The key that signs agent builds, which hosts have it, and how to configure one. */
export const ReleaseKeySection = ({ answer }: { answer: ResponseOf<typeof listPackages> }) => {
  const { releaseKey, formerlyPinned, hosts } = answer
  const isIncomplete = hosts.some(({ state }) => state !== 'Current' && state !== 'Earlier')
  return (
    <>
      <h2>{strings.releaseKey}</h2>
      {releaseKey === null ? <p>{strings.thisServerHasNoReleaseKey}</p> : <Configured releaseKey={releaseKey} />}
      {formerlyPinned === null ? null : (
        <p>
          {strings.formerlyPinnedCodeByDevicetextTime({
            strong: (text) => <strong>{text}</strong>,
            code: <code className={classes.key}>{formerlyPinned.fingerprint}</code>,
            deviceText: <DeviceText value={formerlyPinned.pinnedBy} />,
            time: <Time value={formerlyPinned.pinnedAt} form="local" />,
          })}
        </p>
      )}
      <h2>{strings.releaseKeysOfHosts}</h2>
      <SmallTable
        label={strings.releaseKeysOfHosts}
        head={[strings.key, { title: strings.hosts, align: 'right' }, strings.meaning]}
        rows={hosts.map((group) => ({
          key: group.releaseKey,
          quiet: group.state === 'Current',
          cells: [
            <code key="key">{group.releaseKey}</code>,
            <Link key="hosts" to="/agents" search={{ ReleaseKey: group.releaseKey }}>
              {group.hosts.toLocaleString('en')}
            </Link>,
            meaning[group.state],
          ],
        }))}
        empty={strings.noHostHasAnAgentYet}
      />
      {releaseKey === null ? (
        <>
          <h2>{strings.howToConfigureAReleaseKey}</h2>
          <Steps steps={[...keySteps, ...hostSteps]} />
        </>
      ) : isIncomplete ? (
        <>
          <h2>{strings.howToPinTheKeyOn}</h2>
          <Steps steps={hostSteps} />
        </>
      ) : null}
    </>
  )
}
