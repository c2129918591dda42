import { encode } from 'uqr'

/** Light modules around the code that readers need (ISO/IEC 18004). */
const quietZone = 4

/**
 * A text as a QR code, drawn in the browser and never sent. Dark on light in both themes, because not every camera
 * reads the reverse.
 */
export const QrCode = ({ text, label }: { text: string; label: string }) => {
  const { data, size } = encode(text, { ecc: 'M', border: quietZone })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg
      style={{ alignSelf: 'center', width: 208, height: 208, borderRadius: 6 }}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={dark.join('')} fill="#000000" />
    </svg>
  )
}
