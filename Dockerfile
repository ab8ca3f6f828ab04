# syntax=docker/dockerfile:1

# The server. Without DATABASE_URL it keeps its data in /data (the embedded database): mount a volume there.
#   docker build -t salient .
#   docker run -p 4000:4000 -v salient:/data -e SALIENT_ADMIN_KEY=… salient

FROM node:20-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build

FROM node:20-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force

FROM node:20-slim
ENV NODE_ENV=production \
    SALIENT_HOST=0.0.0.0 \
    PORT=4000 \
    SALIENT_DATA_DIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json schema.graphql LICENSE ./
COPY prisma/migrations ./prisma/migrations
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
# A first start on an empty volume takes some seconds.
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node as process 1 gets the signals and closes the database before it ends.
CMD ["node", "dist/main.js", "serve"]
