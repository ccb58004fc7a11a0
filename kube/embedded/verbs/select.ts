/** Which objects a list or watch is about. */
import type { Labels } from '../../../api/label-selector.ts';
import { messageOf } from '../../../base/error-message.ts';
import { type JsonRecord, recordOr } from '../../is-record.ts';
import { parseLabelSelector } from '../../label-selector.ts';
import type { HttpRequest, Target } from '../requests/types.ts';
import { badRequest } from '../status-error.ts';
import type { Stored } from '../store/store.ts';
import { parseFieldSelector, selectedName } from './field-selector.ts';

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
  const matchesLabels = labels === '' ? undefined : labelSelector(labels);
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

const labelSelector = (text: string): ReturnType<typeof parseLabelSelector> => {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    throw badRequest(messageOf(error));
  }
};
