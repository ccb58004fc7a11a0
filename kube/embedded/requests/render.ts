/** Objects, lists and events in the form that the client wants. */
import { stringify } from 'yaml';
import type { JsonRecord } from '../../is-record.ts';
import type { ResourceDefinition } from '../definitions/types.ts';
import { apiVersionOf } from '../registry.ts';
import { itemJsonOf, jsonOf } from '../store/serialise.ts';
import type { Stored } from '../store/store.ts';
import { tableOf } from '../table/table.ts';
import type { Format } from './accept.ts';

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface RenderOptions {
  readonly format: Format;
  /** Milliseconds since the epoch, for ages in tables. */
  readonly now: number;
  /** What a table's rows have of their objects. */
  readonly includeObject: string;
}

export const renderObject = (definition: ResourceDefinition, stored: Stored, options: RenderOptions): string => {
  const { format } = options;
  if (format.as === 'table') {
    return JSON.stringify(tableOf(definition, [stored], { ...options, metadata: versionOf(stored), headers: true }));
  }
  if (format.as === 'partial') return JSON.stringify(partial(stored, format.version));
  return inEncoding(jsonOf(definition, stored), format);
};

export const renderList = (
  definition: ResourceDefinition,
  items: readonly Stored[],
  metadata: ListMetadata,
  options: RenderOptions,
): string => {
  const { format } = options;
  if (format.as === 'table') return JSON.stringify(tableOf(definition, items, { ...options, metadata, headers: true }));
  if (format.as === 'partial') {
    const kind = 'PartialObjectMetadataList';
    const list = items.map((stored) => partial(stored, format.version));
    return JSON.stringify({ kind, apiVersion: `meta.k8s.io/${format.version}`, metadata, items: list });
  }
  const head = { kind: `${definition.kind}List`, apiVersion: apiVersionOf(definition), metadata };
  const body = items.map((stored) => itemJsonOf(definition, stored)).join(',');
  return inEncoding(`${JSON.stringify(head).slice(0, -1)},"items":[${body}]}`, format);
};

/** The object of a watch event. @param first tables have their headers in the first event only */
export const renderEventObject = (
  definition: ResourceDefinition,
  stored: Stored,
  options: RenderOptions,
  first: boolean,
): string => {
  const { format } = options;
  if (format.as !== 'table') return renderObject(definition, stored, { ...options, format: asJson(format) });
  return JSON.stringify(tableOf(definition, [stored], { ...options, metadata: versionOf(stored), headers: first }));
};

const asJson = (format: Format): Format => (format.as === 'object' ? { as: 'object', encoding: 'json' } : format);

const versionOf = ({ object }: Stored): ListMetadata => ({
  resourceVersion: String((object['metadata'] as JsonRecord)['resourceVersion'] ?? ''),
});

const partial = ({ object }: Stored, version: string): JsonRecord => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object['metadata'],
});

const inEncoding = (json: string, { encoding }: Format): string =>
  encoding === 'yaml' ? stringify(JSON.parse(json)) : json;
