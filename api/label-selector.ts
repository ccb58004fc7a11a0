/** Label selectors (meta/v1 LabelSelector): an empty one selects everything. */
import { z } from 'zod';

export type Labels = Readonly<Record<string, string>>;

const requirementSchema = z
  .object({
    key: z.string().meta({ description: 'Label key that the selector applies to.' }),
    operator: z.string().meta({ description: 'In, NotIn, Exists or DoesNotExist.' }),
    values: z.array(z.string()).optional().meta({
      description: 'Values for In and NotIn, at least one; none for Exists and DoesNotExist.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .superRefine(({ operator, values = [] }, context) => {
    const refuse = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) refuse('values', `must be specified when operator is ${operator}`);
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) refuse('values', `may not be specified when operator is ${operator}`);
    } else refuse('operator', `"${operator}" is not In, NotIn, Exists or DoesNotExist`);
  });

export const labelSelectorSchema = z
  .object({
    matchLabels: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Labels that must have exactly these values.' }),
    matchExpressions: z.array(requirementSchema).optional().meta({
      description: 'Requirements; all must be met.',
      'x-kubernetes-list-type': 'atomic',
    }),
  })
  .meta({ 'x-kubernetes-map-type': 'atomic' });

export type LabelSelector = z.output<typeof labelSelectorSchema>;

export const matchesSelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
  matchExpressions.every((requirement) => meets(requirement, labels));

const meets = (
  { key, operator, values = [] }: NonNullable<LabelSelector['matchExpressions']>[number],
  labels: Labels,
): boolean => {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
};

/** A selector may ask for a label named `constructor`, which every object inherits. */
const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;
