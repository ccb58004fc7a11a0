/** EndpointSlice, `discovery.k8s.io/v1` (https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/). */
import { z } from 'zod';
import { describeRef, metadataSchema, type ObjectMeta, refOf } from './object.ts';
import { parseWith } from './parse.ts';
import { usualEndpointSlice } from './usual-endpoint-slice.ts';

export type AddressType = 'IPv4' | 'IPv6' | 'FQDN';

/** With all fields that it has, also those that are not looked at here. */
export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions | null | undefined;
  /** Where it runs. */
  readonly nodeName?: string | null | undefined;
  /** Whom it is meant for; absent: for everybody. */
  readonly hints?:
    | {
        readonly forZones?: readonly { readonly name: string }[] | null | undefined;
        readonly forNodes?: readonly { readonly name: string }[] | null | undefined;
      }
    | null
    | undefined;
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

/** What is not said is unknown: see `isReady` and `isServing`. */
export interface EndpointConditions {
  readonly ready?: boolean | null | undefined;
  readonly serving?: boolean | null | undefined;
  readonly terminating?: boolean | null | undefined;
}

/** A port of all endpoints of a slice, with all fields that it has. */
export interface EndpointPort {
  /** That of the Service's port. */
  readonly name?: string | null | undefined;
  /** TCP where nothing is said. */
  readonly protocol?: string | null | undefined;
  /** Where it is absent, consumers may take it for all ports; who forwards, as we do, passes it over. */
  readonly port?: number | null | undefined;
  readonly [field: string]: unknown;
}

export interface EndpointSlice {
  readonly metadata: ObjectMeta & { readonly namespace: string };
  readonly addressType: AddressType;
  readonly endpoints: readonly Endpoint[];
  readonly ports: readonly EndpointPort[];
}

/** @throws ApiError */
export const parseEndpointSlice = (value: unknown): EndpointSlice =>
  usualEndpointSlice(value) ?? parseWith(sliceSchema, value, describeRef(refOf('EndpointSlice', value)));

/** Unknown is to be taken for true, as the API says of the field. */
export const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready ?? true;

/** Answers, though it may be about to end. Unknown is what `ready` says. */
export const isServing = (endpoint: Endpoint): boolean => endpoint.conditions?.serving ?? isReady(endpoint);

export const isTerminating = ({ conditions }: Endpoint): boolean => conditions?.terminating ?? false;

const none = <Item>(items: Item[] | null | undefined): readonly Item[] => items ?? [];

const targetSchema = z.looseObject({
  kind: z.string().optional(),
  namespace: z.string().optional(),
  name: z.string().optional(),
  uid: z.string().optional(),
});

const conditionsSchema = z.looseObject({
  ready: z.boolean().nullish(),
  serving: z.boolean().nullish(),
  terminating: z.boolean().nullish(),
});

const namesSchema = z.array(z.looseObject({ name: z.string() })).nullish();

const endpointSchema = z.looseObject({
  addresses: z.array(z.string()),
  conditions: conditionsSchema.nullish(),
  nodeName: z.string().nullish(),
  hints: z.looseObject({ forZones: namesSchema, forNodes: namesSchema }).nullish(),
  targetRef: targetSchema.optional(),
});

const portSchema = z.looseObject({
  name: z.string().nullish(),
  protocol: z.string().nullish(),
  port: z.number().int().nullish(),
});

/** Exported for tests: `usualEndpointSlice` reads the same. */
export const sliceSchema = z.object({
  metadata: metadataSchema.extend({ namespace: z.string().min(1) }),
  addressType: z.enum(['IPv4', 'IPv6', 'FQDN']),
  endpoints: z.array(endpointSchema).nullish().transform(none),
  ports: z.array(portSchema).nullish().transform(none),
});
