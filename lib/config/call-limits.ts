import * as z from 'zod';

/** What may be sent in a minute and in a day. */
export const callLimits = z
  .strictObject({
    perMinute: z
      .int()
      .min(1)
      .default(120)
      .meta({ description: 'Calls in a minute. The default is the limit of the service.', examples: [60] }),
    perDay: z
      .int()
      .min(1)
      .default(5000)
      .meta({ description: 'Calls in a day. The default is the limit of the service.', examples: [2_000] }),
  })
  .prefault({});
