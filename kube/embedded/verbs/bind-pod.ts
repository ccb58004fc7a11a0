/** POST of `pods/NAME/binding`: how a scheduler gives a pod its node. */
import { isRecord, type JsonRecord, recordOr } from '../../is-record.ts';
import { type ServerContext, timestamp } from '../context.ts';
import { readObject } from '../requests/body.ts';
import type { HttpRequest, Target } from '../requests/types.ts';
import { badRequest, conflict, notFound } from '../status-error.ts';
import { metadataOf, withMetadata } from './metadata.ts';

/** @throws StatusError */
export const bindPod = (
  context: ServerContext,
  target: Target & { readonly name: string },
  request: HttpRequest,
): JsonRecord => {
  const { definition, namespace, name } = target;
  const { target: desired, metadata } = readObject(request);
  const node = recordOr(desired)['name'];
  if (typeof node !== 'string' || node === '') throw badRequest('target.name: Required value');
  const stored = context.store.collection(definition.collection).get(`${namespace}/${name}`);
  if (stored === undefined) throw notFound(definition, name);
  const { spec, status } = stored.object;
  const current = recordOr(spec)['nodeName'];
  if (metadataOf(stored.object)['deletionTimestamp'] !== undefined) {
    throw conflict(definition, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (current) throw conflict(definition, name, `pod ${name} is already assigned to node "${String(current)}"`);
  const annotations = {
    ...recordOr(metadataOf(stored.object)['annotations']),
    ...recordOr(recordOr(metadata)['annotations']),
  };
  context.store.put(definition.collection, {
    ...withMetadata(stored.object, Object.keys(annotations).length === 0 ? {} : { annotations }),
    spec: { ...recordOr(spec), nodeName: node },
    status: withCondition(recordOr(status), timestamp(context.clock.wall())),
  });
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
};

const withCondition = (status: JsonRecord, lastTransitionTime: string): JsonRecord => {
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].filter(isRecord) : [];
  const others = conditions.filter(({ type }) => type !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime };
  return { ...status, conditions: [...others, scheduled] };
};
