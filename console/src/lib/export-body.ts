/** The body of an export: the filters of a list by the names of its query, which a body writes with a small first letter. */
export const exportBody = (
  query: Readonly<Record<string, string>>,
  columns?: readonly string[],
): Record<string, string | string[]> => ({
  ...Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name.slice(0, 1).toLowerCase() + name.slice(1), value]),
  ),
  ...(columns === undefined ? {} : { columns: [...columns] }),
})
