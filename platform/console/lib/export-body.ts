/** Returns the body of an export: the filters of a list. Their names in a body start with a small letter. */
export const exportBody = (
  query: Readonly<Record<string, string>>,
  columns?: readonly string[],
): Record<string, string | string[]> => ({
  ...Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name.slice(0, 1).toLowerCase() + name.slice(1), value]),
  ),
  ...(columns === undefined ? {} : { columns: [...columns] }),
})
