/** Building blocks of shapes. */
import { type TSchema, Type } from 'typebox'

export const boundedText = (max: number, description: string) => Type.String({ maxLength: max, description })

/** Defines an object that refuses unknown keys and names them. */
export const closed = <P extends Record<string, TSchema>>(properties: P, options: Record<string, unknown> = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const nullable = <T extends TSchema>(schema: T, options: Record<string, unknown> = {}) =>
  Type.Union([schema, Type.Null()], options)

/** Defines a time: RFC 3339 with `Z`. */
export const utcTime = (description: string, options: Record<string, unknown> = {}) =>
  Type.String({ format: 'date-time', maxLength: 64, description, examples: ['2031-05-04T10:11:12.345Z'], ...options })
