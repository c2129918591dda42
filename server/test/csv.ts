import { type CsvRecord, csvRecords } from '#platform/csv-records.ts'

/** All records of a CSV file. */
export const allCsvRecords = async (bytes: Buffer): Promise<CsvRecord[]> => {
  const all: CsvRecord[] = []
  for await (const record of csvRecords(bytes)) all.push(record)
  return all
}
