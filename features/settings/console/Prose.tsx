/** Shows a description; text between backticks is code. */
export const Prose = ({ text }: { text: string }) => (
  <>
    {text.split('`').map((part, index) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a fixed text do not move
      index % 2 === 1 ? <code key={index}>{part}</code> : part,
    )}
  </>
)
