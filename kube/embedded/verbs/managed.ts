/** Writes who owns which fields into an object that is about to be stored. */
import type { JsonRecord } from '../../is-record.ts';
import { type FieldContext, updateFields } from '../apply/field-manager.ts';
import { type ServerContext, timestamp } from '../context.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { apiVersionOf } from '../registry.ts';
import type { WriteRequest } from '../requests/write-options.ts';

export interface OwnershipInput {
  readonly definition: ResourceDefinition;
  readonly options: WriteRequest;
  readonly isApply?: boolean | undefined;
  readonly subresource?: string | undefined;
}

/** Of every write but an apply, which does that itself. */
export const recordFields = (
  context: ServerContext,
  input: OwnershipInput,
  old: JsonRecord | undefined,
  next: JsonRecord,
): JsonRecord => updateFields(fieldContext(context, input), old, next);

export const fieldContext = (
  { clock }: ServerContext,
  { definition, options, isApply, subresource }: OwnershipInput,
): FieldContext => ({
  schema: definition.fields,
  id: {
    manager: options.manager,
    operation: isApply === true ? 'Apply' : 'Update',
    apiVersion: apiVersionOf(definition),
    subresource: subresource ?? '',
  },
  time: timestamp(clock.wall()),
  reset: resetFields(definition, subresource),
});

/** What a request to this URL can't change. */
const resetFields = ({ hasStatus, custom }: ResourceDefinition, subresource: string | undefined): string[][] => {
  if (subresource === 'status') return custom ? [['f:spec'], ['f:metadata']] : [['f:spec']];
  return hasStatus ? [['f:status']] : [];
};
