/** What is kept of a Service. */
import { z } from 'zod';
import { ApiError } from '../../api/errors.ts';
import { describeRef, refOf } from '../../api/object.ts';
import { parseWith } from '../../api/parse.ts';
import { parseService, type Service } from '../../api/service.ts';
import { notProgrammed } from './service-gaps.ts';

export interface ServiceState {
  /** `namespace/name` */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly created: string;
  /** An error: it cannot be read, and agents do nothing for it. */
  readonly service: Service | ApiError;
  readonly isHeadless: boolean;
  /** Empty: its endpoints are written by somebody else. */
  readonly selector: Readonly<Record<string, string>>;
  /** Of `ExternalName`: what it is a name for. */
  readonly externalName: string;
  /** What it asks for and nobody does yet: `node port 30080/TCP`. */
  readonly notProgrammed: readonly string[];
}

/** @throws ApiError when it has no name that it could be shown by */
export const serviceState = (object: unknown): ServiceState => {
  const { metadata, spec } = parseWith(shownSchema, object, describeRef(refOf('Service', object)));
  const { namespace, name, creationTimestamp } = metadata;
  return {
    ...{ key: `${namespace}/${name}`, namespace, name, created: creationTimestamp ?? '' },
    service: readService(object),
    isHeadless: spec?.clusterIP === 'None' || spec?.clusterIPs?.includes('None') === true,
    selector: spec?.selector ?? {},
    externalName: spec?.externalName ?? '',
    notProgrammed: notProgrammed(object),
  };
};

const readService = (object: unknown): Service | ApiError => {
  try {
    return parseService(object);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
};

const text = z.string().nullish().catch(undefined);
const shownSchema = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string(), creationTimestamp: text }),
  spec: z
    .object({
      clusterIP: text,
      clusterIPs: z.array(text).nullish().catch(undefined),
      externalName: text,
      selector: z.record(z.string(), z.string()).nullish().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});
