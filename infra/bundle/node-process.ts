export const { env, versions } = process;
