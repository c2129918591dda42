import { DeviceText } from './DeviceText.tsx'
import { Text } from './layout/layout.tsx'
import { strings } from './strings.ts'

/** The parts of a change, one per line. Scrolls, so that many lines leave room for the buttons. */
export const DetailLines = ({ lines }: { lines: readonly string[] }) => (
  <Text as="section" scroll style={{ maxHeight: 240 }} tabIndex={0} aria-label={strings.changeDetails}>
    <ul>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines may repeat and never move
        <li key={index}>
          <DeviceText value={line} />
        </li>
      ))}
    </ul>
  </Text>
)
