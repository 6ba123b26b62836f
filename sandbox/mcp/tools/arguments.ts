/** Schemas that several tools share. */

export const text = { type: 'string' } as const;
export const date = { type: 'string', format: 'date', description: 'YYYY-MM-DD' } as const;
export const priority = { type: 'string', enum: ['low', 'medium', 'high'] } as const;
export const project = { ...text, description: 'Identifier of a project' } as const;
export const task = { ...text, description: 'Identifier of a task' } as const;
export const person = { ...text, description: 'Identifier of a workspace member' } as const;
export const item = { type: 'integer', description: 'Identifier of a checklist item' } as const;
export const hours = { type: 'number', description: 'Hours, as a decimal' } as const;
