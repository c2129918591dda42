import { Type } from 'typebox'

export const boundedText = (max: number, description: string) => Type.String({ maxLength: max, description })
