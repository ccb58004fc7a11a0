/** Which objects a list or watch is about. */
import { type JsonRecord, recordOr } from '../../is-record.ts';
import type { HttpRequest, Target } from '../requests/types.ts';
import { parseFieldSelector, selectedName } from '../selectors/field-selector.ts';
import { type Labels, parseLabelSelector } from '../selectors/label-selector.ts';
import type { Stored } from '../store/store.ts';

export interface Selection {
  readonly namespace: string;
  /** The one name that can match, when the selector says so. */
  readonly name: string | undefined;
  readonly matches: (stored: Stored) => boolean;
  /** False: every object of the namespace matches. */
  readonly isFiltered: boolean;
}

/** @throws StatusError 400 */
export const selectionOf = ({ definition, namespace, name }: Target, { query }: HttpRequest): Selection => {
  const labels = query.get('labelSelector') ?? '';
  const fields = name === undefined ? (query.get('fieldSelector') ?? '') : `metadata.name=${name}`;
  const matchesLabels = labels === '' ? undefined : parseLabelSelector(labels);
  const matchesFields = fields === '' ? undefined : parseFieldSelector(fields, definition.selectableFields);
  return {
    namespace,
    name: selectedName(fields),
    isFiltered: matchesLabels !== undefined || matchesFields !== undefined,
    matches: (stored) =>
      (namespace === '' || stored.namespace === namespace) &&
      (matchesLabels?.(labelsOf(stored.object)) ?? true) &&
      (matchesFields?.(stored.object) ?? true),
  };
};

const labelsOf = (object: JsonRecord): Labels => recordOr(recordOr(object['metadata'])['labels']) as Labels;
