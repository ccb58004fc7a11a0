/** Status conditions (meta/v1 Condition). */
import { z } from 'zod';

export const conditionSchema = z.object({
  type: z.string().max(316).meta({ description: 'Type of the condition in CamelCase.' }),
  status: z.enum(['True', 'False', 'Unknown']).meta({ description: 'Status of the condition.' }),
  reason: z.string().min(1).max(1024).meta({
    description: 'Machine-readable reason of the last transition.',
    pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
  }),
  message: z.string().max(32_768).meta({ description: 'Human-readable message about the last transition.' }),
  lastTransitionTime: z.string().meta({ description: 'Time of the last change of the status.', format: 'date-time' }),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Generation of the object that the condition reflects.', format: 'int64' }),
});

export type Condition = z.output<typeof conditionSchema>;

/** What a controller says; when it began to be so follows from what was there. */
export type ConditionInput = Omit<Condition, 'lastTransitionTime'>;

/** The condition to write: its transition time is that of `previous` unless the status differs. */
export const nextCondition = (input: ConditionInput, previous: readonly Condition[], now: string): Condition => {
  const before = previous.find(({ type }) => type === input.type);
  return { ...input, lastTransitionTime: before?.status === input.status ? before.lastTransitionTime : now };
};

/** True when writing `next` would change nothing that anybody reads. */
export const hasCondition = (conditions: readonly Condition[], next: ConditionInput): boolean =>
  conditions.some(
    ({ type, status, reason, message, observedGeneration }) =>
      type === next.type &&
      status === next.status &&
      reason === next.reason &&
      message === next.message &&
      observedGeneration === next.observedGeneration,
  );
