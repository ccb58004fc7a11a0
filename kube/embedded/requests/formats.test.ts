import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../../resources.ts';
import { createEmbeddedCluster } from '../cluster.ts';
import { formatOf } from './accept.ts';

describe('formatOf', () => {
  it.each([
    [undefined, { as: 'object', encoding: 'json' }],
    ['*/*', { as: 'object', encoding: 'json' }],
    ['application/yaml', { as: 'object', encoding: 'yaml' }],
    ['application/vnd.kubernetes.protobuf,application/json', { as: 'object', encoding: 'json' }],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', { as: 'table', version: 'v1', encoding: 'json' }],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', { as: 'object', encoding: 'json' }],
    [
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      { as: 'partial', version: 'v1', encoding: 'json' },
    ],
  ])('%s', (accept, format) => expect(formatOf(accept)).toEqual(format));

  it.each(['text/html', 'application/vnd.kubernetes.protobuf', 'application/json;as=Table;v=v1;g=other'])(
    'refuses %s',
    (accept) => expect(() => formatOf(accept)).toThrow(expect.objectContaining({ code: 406 })),
  );
});

it('metadata can be asked for alone', async () => {
  const cluster = createEmbeddedCluster();
  const metadata = { namespace: 'default', name: 'a', labels: { a: 'b' } };
  await cluster.client().create(CONFIG_MAPS, { metadata, data: { key: 'the value' } });
  const headers = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
  const path = '/api/v1/namespaces/default/configmaps';
  const { body } = await cluster.transport.send({ method: 'GET', path, headers });
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  expect(JSON.parse(text)).toMatchObject({
    kind: 'PartialObjectMetadataList',
    items: [{ kind: 'PartialObjectMetadata', metadata }],
  });
  expect(text).not.toContain('the value');
});
