/**
 * Rules over several fields, each written once: as CEL for the CRD (the API server refuses the object at once) and as a
 * predicate for us (an API server may have older CRDs, and `udnctl render` asks none).
 */
import type { z } from 'zod';

export interface Rule<Value> {
  readonly cel: string;
  readonly message: string;
  /** True when the value keeps the rule. Absent for rules about changes: we never see the old value. */
  readonly holds?: (value: Value) => boolean;
  /** Path of the field to blame, below the value. */
  readonly at?: readonly (string | number)[];
}

/** Key of a schema's metadata under which the CRD generator finds the rules in CEL. */
export const VALIDATIONS = 'x-kubernetes-validations';

/** `schema` with more rules, as refinements and for the CRD. Rules that it has already stay in front. */
export const withRules = <Schema extends z.ZodType>(
  schema: Schema,
  rules: readonly Rule<z.output<Schema>>[],
  meta: Readonly<Record<string, unknown>> = {},
): Schema =>
  schema
    .superRefine((value, context) => {
      for (const rule of rules) {
        if (rule.holds?.(value) !== false) continue;
        context.addIssue({
          code: 'custom',
          path: [...(rule.at ?? [])],
          message: rule.message,
          params: { rule: true },
        });
      }
    })
    .meta({ ...meta, [VALIDATIONS]: [...validationsOf(schema), ...rules.map(toValidation)] });

/** A rule that only the API server can check, since it is about what may change. */
export const onUpdate = (cel: string, message: string, at: readonly string[] = []): Rule<unknown> => ({
  cel,
  message,
  at,
});

/** A field of an object that may neither change nor come and go. */
export const immutableField = (field: string, message = `${field} is immutable`): Rule<unknown> =>
  onUpdate(
    `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    message,
    [field],
  );

const validationsOf = (schema: z.ZodType): readonly unknown[] => {
  const validations = schema.meta()?.[VALIDATIONS];
  return Array.isArray(validations) ? validations : [];
};

/** The field that is to blame for us is so for the server, too; it knows no items of lists there. */
const toValidation = ({ cel, message, at = [] }: Rule<never>): Readonly<Record<string, string>> => ({
  rule: cel,
  message,
  ...(at.length > 0 && at.every((key) => typeof key === 'string') ? { fieldPath: `.${at.join('.')}` } : {}),
});
