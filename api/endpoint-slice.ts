/** EndpointSlice, `discovery.k8s.io/v1` (https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/). */
import { z } from 'zod';
import { describeRef, metadataSchema, type ObjectMeta, refOf } from './object.ts';
import { parseWith } from './parse.ts';

export type AddressType = 'IPv4' | 'IPv6' | 'FQDN';

/** With all fields that it has, also those that are not looked at here. */
export interface Endpoint {
  readonly addresses: readonly string[];
  readonly targetRef?:
    | {
        readonly kind?: string | undefined;
        readonly namespace?: string | undefined;
        readonly name?: string | undefined;
        readonly uid?: string | undefined;
      }
    | undefined;
  readonly [field: string]: unknown;
}

export interface EndpointSlice {
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly addressType: AddressType;
  readonly endpoints: readonly Endpoint[];
  readonly ports: readonly Readonly<Record<string, unknown>>[];
}

/** @throws ApiError */
export const parseEndpointSlice = (value: unknown): EndpointSlice =>
  parseWith(sliceSchema, value, describeRef(refOf('EndpointSlice', value)));

const none = <Item>(items: Item[] | null | undefined): readonly Item[] => items ?? [];

const targetSchema = z.looseObject({
  kind: z.string().optional(),
  namespace: z.string().optional(),
  name: z.string().optional(),
  uid: z.string().optional(),
});

const endpointSchema = z.looseObject({ addresses: z.array(z.string()), targetRef: targetSchema.optional() });

const sliceSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  addressType: z.enum(['IPv4', 'IPv6', 'FQDN']),
  endpoints: z.array(endpointSchema).nullish().transform(none),
  ports: z.array(z.looseObject({})).nullish().transform(none),
});
