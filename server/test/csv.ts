import { type CsvRecord, readCsv } from '@portcullis/platform/server/csv-records.ts'

export const allCsvRecords = async (bytes: Buffer): Promise<CsvRecord[]> => {
  const { header, batches } = readCsv(bytes)
  const all = header === undefined ? [] : [header]
  for await (const records of batches) all.push(...records)
  return all
}
