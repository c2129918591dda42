import { deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { Columns, Note, Panel, PressButton, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityLine, SeverityShape, SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useState } from 'react'
import { basisText, openedText, type Preview, previewSentence, takesEffectText, worksAgainText } from './labels.ts'
import { strings } from './strings.ts'
import { type PreviewDraft, usePreview } from './usePreview.ts'

const shownAtFirst = 5
const effectColumns = '16px minmax(0, 1.4fr) minmax(0, 1fr) auto'

const Effects = ({ preview }: { preview: Preview }) => {
  const [all, setAll] = useState(false)
  const shown = all ? preview.effects : preview.effects.slice(0, shownAtFirst)
  if (shown.length === 0) return null
  return (
    <>
      <Stack as="ul" gap={4} scroll style={{ minHeight: 48, maxHeight: 'var(--preview-list, 240px)' }}>
        {shown.map((effect) => (
          <Columns as="li" key={`${effect.uuid}|${effect.deviceID}`} template={effectColumns} gap={8}>
            <Icon name={kindIcon(effect.devIcon)} size={14} />
            <Text breaks>
              {effect.isKnownAttackTool ? (
                <>
                  <SeverityTag severity="red" word={strings.attackTool} />{' '}
                </>
              ) : null}
              <PlainLink href={deviceAddress(effect.uuid, effect.deviceID)}>
                <DeviceText value={effect.caption || `${effect.vid}:${effect.pid}`} />
              </PlainLink>
            </Text>
            <Text breaks>{strings.onHost({ host: <DeviceText key="host" value={effect.hostIdentifier} /> })}</Text>
            <span style={effect.after === 'block' ? { fontWeight: 600 } : undefined}>
              {effect.after === 'allow'
                ? strings.willBeAllowed
                : effect.present && effect.armed
                  ? strings.stopsWorkingNow
                  : effect.armed
                    ? strings.willBeBlocked
                    : effect.canBlock
                      ? strings.blockedOnceArmed
                      : strings.cannotBeBlocked}
            </span>
          </Columns>
        ))}
      </Stack>
      {preview.effects.length > shown.length ? (
        <PressButton isLink onClick={() => setAll(true)}>
          {preview.peripherals > preview.effects.length
            ? strings.showFirst({ shown: preview.effects.length, count: preview.peripherals })
            : strings.showAll({ count: preview.peripherals })}
        </PressButton>
      ) : null}
    </>
  )
}

/** Shows what a change of the rules would do: summary, warnings, then the devices. */
export const PreviewPanel = ({ draft, waiting }: { draft: PreviewDraft | null; waiting: string }) => {
  const { preview, failure, isStale, retry } = usePreview(draft)
  if (failure !== null) return <ErrorState failure={failure} retry={retry} inline />
  const sentence = preview === undefined ? null : previewSentence(preview)
  const effect = preview === undefined ? null : takesEffectText(preview)
  // The sentence already counts devices that become allowed.
  const again =
    preview === undefined ? null : preview.allowed === 0 ? openedText(preview) : worksAgainText(preview.worksAgain)
  return (
    <Panel
      as="output"
      dense
      tone="raised"
      fixed
      style={{ minHeight: 44 }}
      aria-live="polite"
      data-stale={isStale || undefined}
      data-testid="preview"
    >
      {preview === undefined || sentence === null ? (
        <Note>{draft === null ? waiting : strings.previewLoading}</Note>
      ) : (
        <>
          <SeverityLine severity={sentence.severity}>
            <strong>{sentence.text}</strong>
          </SeverityLine>
          {effect === null ? null : (
            <SeverityLine severity="amber" data-testid="takes-effect">
              <span>{effect}</span>
            </SeverityLine>
          )}
          {again === null ? null : (
            <SeverityLine severity={again.severity} data-testid="works-again">
              <strong>{again.text}</strong>
            </SeverityLine>
          )}
          {preview.warnings.length === 0 ? null : (
            <Stack as="ul" gap={4} fixed scroll style={{ maxHeight: 160 }}>
              {preview.warnings.map(({ code, text, ruleId }) => (
                <Row as="li" align="baseline" key={`${code}${ruleId}`}>
                  <SeverityShape severity="amber" />
                  <span>
                    <DeviceText value={text} />{' '}
                    {ruleId === null ? null : (
                      <a href={`/policy?open=${encodeURIComponent(ruleId)}`} target="_blank" rel="noreferrer">
                        {strings.openRule}
                      </a>
                    )}
                  </span>
                </Row>
              ))}
            </Stack>
          )}
          {preview.brokenTests.length === 0 ? null : (
            <Stack as="ul" gap={4} fixed scroll style={{ maxHeight: 160 }} data-testid="broken-tests">
              {preview.brokenTests.map(({ id, name, expected, why }) => (
                <Row as="li" align="baseline" key={id}>
                  <SeverityShape severity="red" />
                  <span>
                    {(expected === 'allow' ? strings.breaksAllow : strings.breaksBlock)({
                      test: (
                        <PlainLink key="test" href={`/policy/tests?open=${encodeURIComponent(id)}`}>
                          <DeviceText value={name} />
                        </PlainLink>
                      ),
                      why: <DeviceText key="why" value={why} />,
                    })}
                  </span>
                </Row>
              ))}
            </Stack>
          )}
          {preview.secondPerson ? (
            <SeverityLine severity="amber" data-testid="second-approver">
              <span>{strings.needsApprover}</span>
            </SeverityLine>
          ) : null}
          <Effects preview={preview} />
          <Note>{basisText(preview.prediction)}</Note>
        </>
      )}
    </Panel>
  )
}
