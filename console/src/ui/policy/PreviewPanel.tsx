import type { PolicyDraft } from '@portcullis/contract'
import { useState } from 'react'
import { deviceAddress } from '../../lib/addresses.ts'
import { DeviceText } from '../DeviceText.tsx'
import { ErrorState } from '../ErrorState.tsx'
import { Icon, kindIcon } from '../icons.tsx'
import { PlainLink } from '../PlainLink.tsx'
import { SeverityShape, SeverityTag } from '../SeverityTag.tsx'
import { basisText, devices, openedText, type Preview, previewSentence, worksAgainText } from './labels.ts'
import classes from './policy.module.css'
import { strings } from './strings.ts'
import { usePreview } from './usePreview.ts'

const shownAtFirst = 5

const Effects = ({ preview }: { preview: Preview }) => {
  const [all, setAll] = useState(false)
  const shown = all ? preview.effects : preview.effects.slice(0, shownAtFirst)
  if (shown.length === 0) return null
  return (
    <>
      <ul className={classes.effects}>
        {shown.map((effect) => (
          <li key={`${effect.uuid}|${effect.deviceID}`} data-stops={effect.after === 'block' || undefined}>
            <Icon name={kindIcon(effect.devIcon)} size={14} />
            <span className={classes.clip}>
              {effect.isKnownAttackTool ? (
                <>
                  <SeverityTag severity="red" word={strings.attackTool} />{' '}
                </>
              ) : null}
              <PlainLink href={deviceAddress(effect.uuid, effect.deviceID)}>
                <DeviceText value={effect.caption || `${effect.vid}:${effect.pid}`} />
              </PlainLink>
            </span>
            <span className={classes.clip}>
              {strings.onDevicetext({ deviceText: <DeviceText value={effect.hostIdentifier} /> })}
            </span>
            <span>
              {effect.after === 'allow'
                ? 'will be allowed'
                : effect.present && effect.armed
                  ? 'stops working now'
                  : effect.armed
                    ? 'will be blocked'
                    : 'would be blocked when armed'}
            </span>
          </li>
        ))}
      </ul>
      {preview.effects.length > shown.length ? (
        <button type="button" className={classes.linkButton} onClick={() => setAll(true)}>
          {strings.showValueEffectsOfPeripherals({
            value: preview.peripherals > preview.effects.length ? 'the first' : 'all',
            effects: preview.effects.length,
            peripherals: devices(preview.peripherals),
          })}
        </button>
      ) : null}
    </>
  )
}

/** What a change of the rules would do, from the server, in words; then the devices, then what to think about. */
export const PreviewPanel = ({ draft, waiting }: { draft: PolicyDraft | null; waiting: string }) => {
  const { preview, failure, isStale, retry } = usePreview(draft)
  if (failure !== null) return <ErrorState failure={failure} retry={retry} inline />
  const sentence = preview === undefined ? null : previewSentence(preview)
  // The sentence already counts devices that become allowed.
  const again =
    preview === undefined ? null : preview.allowed === 0 ? openedText(preview) : worksAgainText(preview.worksAgain)
  return (
    <output className={classes.preview} aria-live="polite" data-stale={isStale || undefined} data-testid="preview">
      {preview === undefined || sentence === null ? (
        <p className={classes.quiet}>{draft === null ? waiting : strings.askingTheServerWhatThisWould}</p>
      ) : (
        <>
          <p className={classes.sentence}>
            <SeverityShape severity={sentence.severity} />
            <strong>{sentence.text}</strong>
          </p>
          {again === null ? null : (
            <p className={classes.sentence} data-testid="works-again">
              <SeverityShape severity={again.severity} />
              <strong>{again.text}</strong>
            </p>
          )}
          {preview.warnings.length === 0 ? null : (
            <ul className={classes.warnings}>
              {preview.warnings.map(({ code, text, ruleId }) => (
                <li key={`${code}${ruleId}`}>
                  <SeverityShape severity="amber" />
                  <span>
                    <DeviceText value={text} />{' '}
                    {ruleId === null ? null : (
                      <a href={`/policy?open=${encodeURIComponent(ruleId)}`} target="_blank" rel="noreferrer">
                        {strings.thatRule}
                      </a>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )}
          {preview.secondPerson ? (
            <p className={classes.sentence} data-testid="second-approver">
              <SeverityShape severity="amber" />
              <span>{strings.thisNeedsASecondApproverYour}</span>
            </p>
          ) : null}
          <Effects preview={preview} />
          <p className={classes.quiet}>{basisText(preview.prediction)}</p>
        </>
      )}
    </output>
  )
}
