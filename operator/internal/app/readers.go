package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// metricsPath is the only path of the metrics server.
const metricsPath = "/metrics"

const (
	// mostReaders is how many allowed, and how many refused, tokens are remembered.
	mostReaders = 100

	// allowedTTL and refusedTTL are how long the operator reuses the API server's answer that a token is allowed, or
	// refused.
	allowedTTL, refusedTTL = time.Minute, 10 * time.Second

	// knownTTL is how long a token that was allowed is exempt from the rate limit. There are at most mostReaders such
	// tokens, and each is reviewed once per allowedTTL.
	knownTTL = time.Hour

	// mostUnknown is how many other tokens, which were not allowed within knownTTL, are reviewed per second. unknownBurst
	// is how many of them are reviewed in one burst.
	mostUnknown  = 5
	unknownBurst = 10

	// retryAfter is after how many seconds a client may try again.
	retryAfter = "1"

	// reviewTimeout limits a request to the API server.
	reviewTimeout = 10 * time.Second
)

// readers authorizes clients of the metrics with the API server. controller-runtime's filter sends the same requests
// with k8s.io/apiserver, which would be a third of the program and of its memory.
type readers struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface

	// allowed and refused hold answers by a hash of the token. Nothing else that a client sends is kept. There are two
	// caches, so that many refused tokens do not evict allowed ones.
	allowed, refused *cache.LRUExpireCache

	// known holds the tokens that were allowed within the last hour.
	known *cache.LRUExpireCache

	// unknown limits the reviews of all other tokens.
	unknown *rate.Limiter
}

func newReaders(
	tokens authenticationclient.TokenReviewInterface, access authorizationclient.SubjectAccessReviewInterface,
) readers {
	return readers{
		tokens: tokens, access: access, unknown: rate.NewLimiter(mostUnknown, unknownBurst),
		allowed: cache.NewLRUExpireCache(mostReaders), refused: cache.NewLRUExpireCache(mostReaders),
		known: cache.NewLRUExpireCache(mostReaders),
	}
}

// onlyReaders returns a filter that rejects clients which may not read the metrics.
func onlyReaders(config *rest.Config, client *http.Client) (metricsserver.Filter, error) {
	tokens, err := authenticationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("set up authentication: %w", err)
	}
	access, err := authorizationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("set up authorization: %w", err)
	}
	return newReaders(tokens.TokenReviews(), access.SubjectAccessReviews()).filter, nil
}

func (r readers) filter(log logr.Logger, metrics http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		switch code, err := r.answer(request); {
		case err != nil:
			if request.Context().Err() == nil { // If there is an error, the client has disconnected.
				log.Error(err, "A reader of the metrics cannot be authenticated")
			}
			http.Error(w, "The API server could not authenticate the token", code)
		case code == http.StatusTooManyRequests:
			w.Header().Set("Retry-After", retryAfter)
			http.Error(w, "Too many unknown tokens: try again", code)
		case code != http.StatusOK:
			http.Error(w, http.StatusText(code), code)
		default:
			metrics.ServeHTTP(w, request)
		}
	}), nil
}

// answer returns the status code for a request: 200 if it is allowed.
func (r readers) answer(request *http.Request) (int, error) {
	if request.Method != http.MethodGet {
		return http.StatusMethodNotAllowed, nil
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(request.Header.Get("Authorization")), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		return http.StatusUnauthorized, nil
	}
	return r.answerFor(request.Context(), token)
}

// answerFor returns the API server's answer for a token, which it caches.
func (r readers) answerFor(ctx context.Context, token string) (int, error) {
	hash := sha256.Sum256([]byte(token))
	if _, allowed := r.allowed.Get(hash); allowed {
		return http.StatusOK, nil
	}
	if code, refused := r.refused.Get(hash); refused {
		return code.(int), nil
	}
	if _, known := r.known.Get(hash); !known && !r.unknown.Allow() {
		return http.StatusTooManyRequests, nil
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	code, err := r.review(ctx, token)
	switch {
	case err != nil: // A retry may succeed.
	case code == http.StatusOK:
		r.allowed.Add(hash, code, allowedTTL)
		r.known.Add(hash, code, knownTTL)
	default:
		r.refused.Add(hash, code, refusedTTL)
		r.known.Remove(hash)
	}
	return code, err
}

// review asks the API server whether the client with a token may read the metrics.
func (r readers) review(ctx context.Context, token string) (int, error) {
	who := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	who, err := r.tokens.Create(ctx, who, metav1.CreateOptions{})
	if err != nil {
		return http.StatusInternalServerError, fmt.Errorf("review a token: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	may := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: "get", Path: metricsPath},
		User:                  user.Username, Groups: user.Groups, UID: user.UID, Extra: extra(user.Extra),
	}}
	may, err = r.access.Create(ctx, may, metav1.CreateOptions{})
	if err != nil {
		return http.StatusInternalServerError, fmt.Errorf("review what %s may do: %w", user.Username, err)
	}
	if !may.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

func extra(from map[string]authenticationv1.ExtraValue) map[string]authorizationv1.ExtraValue {
	to := make(map[string]authorizationv1.ExtraValue, len(from))
	for key, value := range from {
		to[key] = authorizationv1.ExtraValue(value)
	}
	return to
}
