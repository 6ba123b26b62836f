/** Schemas that several tools share. */

export const text = { type: 'string' } as const;
export const name = { type: 'string', minLength: 1 } as const;
export const date = { type: 'string', format: 'date', description: 'YYYY-MM-DD' } as const;
export const priority = { type: 'string', enum: ['low', 'medium', 'high'] } as const;
export const project = { ...name, description: 'Identifier of a project' } as const;
export const task = { ...name, description: 'Identifier of a task' } as const;
export const defect = { ...name, description: 'Identifier of a defect' } as const;
export const person = { ...name, description: 'Identifier of a workspace member' } as const;
export const item = { type: 'integer', description: 'Identifier of a checklist item' } as const;
export const hours = { type: 'number', exclusiveMinimum: 0, maximum: 24, description: 'Hours, as a decimal' } as const;
